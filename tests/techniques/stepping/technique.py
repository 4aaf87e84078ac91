from techniques.model import Option, OptionKind, Technique
from techniques.schema import Fields, Word

TECHNIQUE = Technique(
    name="stepping",
    title="Stepping",
    sentence="Counts how often it looked at this run of the job.",
    settings=Fields({"word": Word()}),
    options=(Option("from", "From", OptionKind.INT, 1, low=1, high=9),),
)
