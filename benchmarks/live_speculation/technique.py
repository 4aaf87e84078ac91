from techniques.model import Technique
from techniques.schema import Fields, Flag

TECHNIQUE = Technique(
    name="live_speculation",
    title="Spark's own speculation",
    sentence="Copies tasks as Spark's own constants say, or not at all.",
    settings=Fields({"on": Flag()}),
)
