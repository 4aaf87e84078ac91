from techniques.model import Technique
from techniques.schema import Fields, Word

TECHNIQUE = Technique(
    name="raising",
    title="Raising",
    sentence="Fails in the user's driver.",
    settings=Fields({"error": Word()}),
)
