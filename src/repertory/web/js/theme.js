// Light or dark?
//
// What the system prefers, until the person says otherwise; that is remembered on this device. Loaded before anything is drawn.

const KEPT = "repertory.theme";
const CHOICES = ["system", "light", "dark"];

export const chosen = () => {
  try {
    return CHOICES.includes(localStorage.getItem(KEPT)) ? localStorage.getItem(KEPT) : "system";
  } catch {
    return "system";
  }
};

/** System, light, dark, and round again; answers the new one. */
export function next() {
  const choice = CHOICES[(CHOICES.indexOf(chosen()) + 1) % CHOICES.length];
  try {
    localStorage.setItem(KEPT, choice);
  } catch {
    /* a private window forgets */
  }
  apply(choice);
  return choice;
}

function apply(choice) {
  if (choice === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = choice;
}

apply(chosen());
