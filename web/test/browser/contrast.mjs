// Words over a picture. What the picture shows can't be known, so their contrast is computed over white and over
// black: whatever a panel lets through lies between the two.

import { must } from "./must.mjs";

/** What holds words over a picture. */
const OVER = ".hud, .screen > .over";
/** Least contrast of words, and of large ones (WCAG 2.2, 1.4.3). */
const LEAST = { usual: 4.5, large: 3 };

/**
 * Whether the contrast of what `selector` finds is known and enough, though axe can't tell: it lies over a picture,
 * where {@link checkOverPicture} looks, or only plain grounds are behind it (axe gives up at single letters, arrows,
 * words of drawings, and dialogs in front of other things).
 */
export async function known(page, selector) {
  if (
    await page.evaluate(
      ([what, over]) => document.querySelector(what)?.closest(over) != null,
      [selector, OVER],
    )
  ) {
    return true;
  }
  const found = await page.evaluate(measure, { alone: selector, least: LEAST });
  return found.length === 1 && found[0].contrast >= found[0].needed;
}

/**
 * Throws if any words over the picture have too little contrast, and if any colour for words would have: warnings are
 * rarely there to be looked at. Gives the least contrast found; null if nothing lies over a picture.
 */
export async function checkOverPicture(page) {
  const found = await page.evaluate(measure, { over: OVER, least: LEAST });
  const short = found.filter(({ contrast, needed }) => contrast < needed);
  must(
    short.length === 0,
    short.map(({ what, contrast, needed }) => `${what}: ${contrast.toFixed(2)}, needs ${needed}`).join("; "),
  );
  return found.length === 0 ? null : Math.min(...found.map(({ contrast }) => contrast));
}

/** Runs in the page. */
function measure({ over, alone, least }) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const brush = canvas.getContext("2d", { willReadFrequently: true });
  /** Any CSS colour as red, green, blue and opacity, 0 to 1. */
  const parse = (colour) => {
    const numbers = /^rgba?\(([^)]+)\)$/
      .exec(colour)?.[1]
      .split(/[\s,/]+/)
      .map(Number);
    if (numbers?.every(Number.isFinite)) {
      return [numbers[0] / 255, numbers[1] / 255, numbers[2] / 255, numbers[3] ?? 1];
    }
    brush.clearRect(0, 0, 1, 1);
    brush.fillStyle = colour;
    brush.fillRect(0, 0, 1, 1);
    return [...brush.getImageData(0, 0, 1, 1).data].map((value) => value / 255);
  };
  const upon = ([r, g, b, a], ground) => [r, g, b].map((value, i) => a * value + (1 - a) * ground[i]);
  const linear = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const luminance = (colour) => {
    const [r, g, b] = colour.map(linear);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  /** The lesser of the contrasts over white and over black. `grounds` from below to above, `ink` over them. */
  const worst = (ink, grounds) =>
    Math.min(
      ...[1, 0].map((picture) => {
        const ground = grounds.reduce((below, above) => upon(above, below), [picture, picture, picture]);
        const [a, b] = [luminance(upon(ink, ground)), luminance(ground)];
        return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      }),
    );

  /** Backgrounds behind `element`, from `root` upwards. */
  const groundsOf = (element, root) => {
    const grounds = [];
    for (let at = element; at !== null; at = at === root ? null : at.parentElement) {
      grounds.unshift(parse(getComputedStyle(at).backgroundColor));
    }
    return grounds;
  };
  /** Nothing is see-through as a whole, but what is just appearing. */
  const solid = (element, root) => {
    for (let at = element; at !== null; at = at === root ? null : at.parentElement) {
      if (getComputedStyle(at).opacity !== "1" && at.getAnimations().length === 0) {
        return false;
      }
    }
    return true;
  };
  const judge = (element, words, ink, root) => {
    const { fontSize, fontWeight } = getComputedStyle(element);
    const size = Number.parseFloat(fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(fontWeight) >= 700);
    return {
      what: `“${words.slice(0, 40)}” (${element.getAttribute("class") ?? element.localName})`,
      contrast: solid(element, root) ? worst(parse(ink), groundsOf(element, root)) : 0,
      needed: large ? least.large : least.usual,
    };
  };

  /** Whether nothing but the grounds of the elements around it is seen behind an element. */
  const plain = (element) => {
    const centre = () => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return [x + width / 2, y + height / 2];
    };
    element.scrollIntoView({ block: "center", behavior: "instant" });
    if (centre()[1] > innerHeight) {
      // What sticks to the window comes up only at the end of the page.
      scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
    }
    for (const behind of document.elementsFromPoint(...centre())) {
      const { backgroundColor, backgroundImage, backgroundRepeat, backgroundSize } = getComputedStyle(behind);
      const [, , , opacity] = parse(backgroundColor);
      const around = behind.contains(element);
      // The little arrow of a list is a picture too, but not behind the words.
      const drawn =
        backgroundImage !== "none" &&
        !(/^(no-repeat(, )?)+$/.test(backgroundRepeat) && Number.parseFloat(backgroundSize) < 10);
      const shape = behind instanceof SVGElement && behind.localName !== "svg" && !around;
      if (drawn || shape || behind.matches("img, canvas, video") || (opacity > 0 && !around)) {
        return false;
      }
      if (opacity === 1) {
        return true;
      }
    }
    return false;
  };
  if (alone) {
    const text = document.querySelector(alone);
    const { fill, color } = getComputedStyle(text);
    return plain(text) ? [judge(text, text.textContent, text.closest("svg") ? fill : color, null)] : [];
  }

  const found = [];
  for (const root of document.querySelectorAll(over)) {
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const words = texts.currentNode.textContent.trim();
      const element = texts.currentNode.parentElement;
      if (words !== "" && !element.closest(".quietly") && element.checkVisibility()) {
        found.push(judge(element, words, getComputedStyle(element).color, root));
      }
    }
    const style = getComputedStyle(root);
    const glass = parse(style.getPropertyValue("--glass"));
    for (const name of ["--ink", "--soft", "--faint", "--accent", "--amber", "--red"]) {
      found.push({
        what: `${name} on glass`,
        contrast: worst(parse(style.getPropertyValue(name)), [glass]),
        needed: least.usual,
      });
    }
  }
  return found;
}
