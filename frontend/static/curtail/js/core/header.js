/** The header's two switches: time zone and theme. */

import { choice } from "./choice.js";
import { chooseTheme, chosenTheme } from "./theme.js";
import { zoneName } from "./times.js";
import { chooseZone, chosenZone } from "./zone.js";

const zones = document.querySelector("[data-zone-choice]");
zones.querySelector("[value=local]").textContent = `Local (${zoneName(Date.now(), "local")})`;
choice(zones, chosenZone(), chooseZone);
choice(document.querySelector("[data-theme-choice]"), chosenTheme(), chooseTheme);
