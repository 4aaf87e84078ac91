from techniques.model import Option, OptionKind, Technique
from techniques.schema import Fields, Flag, Number, Word

TECHNIQUE = Technique(
    name="echo",
    title="Echo",
    sentence="Asks every executor to hold a word, and changes nothing.",
    needs="nothing",
    options=(
        Option("word", "Word", OptionKind.CHOICE, "hello", choices=("hello", "goodbye")),
        Option("refuse", "Refuse", OptionKind.BOOL, False),
        Option("times", "Times", OptionKind.INT, 1, low=1, high=3),
    ),
    settings=Fields({"word": Word()}, {"refuse": Flag(), "times": Number(1, 3, whole=True)}),
    lease_ms=5_000,
)
