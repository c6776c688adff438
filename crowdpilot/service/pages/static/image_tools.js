// Tools for the image of an item: zoom, rotation, brightness and contrast, on the page and in the zoom dialog.
"use strict";

const IMAGE_KEYS = { r: "rotate", d: "darker", b: "brighter", k: "contrast", o: "reset" }; // with Shift on the page
const BRIGHTNESS = [0.4, 0.6, 0.8, 1, 1.3, 1.6, 2, 2.6];
const CONTRAST = [1, 1.5, 2.2, 3.2];

function makeImageTools(dialog) {
  const views = new WeakMap(); // how each image is shown
  const scroller = dialog.querySelector(".zoom-in");
  const paper = dialog.querySelector(".zoom-paper");
  const large = paper.querySelector("img");
  let current = null; // the image in the dialog

  const untouched = () => ({ turns: 0, brightness: BRIGHTNESS.indexOf(1), contrast: 0 });
  const viewOf = (image) => views.get(image) ?? untouched();
  const step = (list, at, by) => Math.min(list.length - 1, Math.max(0, at + by));

  function changed(view, tool) {
    if (tool === "rotate") return { ...view, turns: (view.turns + 1) % 4 };
    if (tool === "brighter") return { ...view, brightness: step(BRIGHTNESS, view.brightness, 1) };
    if (tool === "darker") return { ...view, brightness: step(BRIGHTNESS, view.brightness, -1) };
    if (tool === "contrast") return { ...view, contrast: (view.contrast + 1) % CONTRAST.length };
    return untouched();
  }

  function apply(image, view) {
    image.dataset.turns = String(view.turns);
    image.style.filter = `brightness(${BRIGHTNESS[view.brightness]}) contrast(${CONTRAST[view.contrast]})`;
  }

  function use(image, tool) {
    if (!image) return;
    views.set(image, changed(viewOf(image), tool));
    apply(image, viewOf(image));
    if (image === current) lay();
  }

  // The paper has the size of the turned image, so that the dialog scrolls over all of it.
  function lay() {
    if (!current || !large.naturalWidth) return;
    const width = Math.max(large.naturalWidth, Math.min(innerWidth * 0.92, 960));
    const height = (width * large.naturalHeight) / large.naturalWidth;
    const turned = viewOf(current).turns % 2 === 1;
    large.style.width = `${width}px`;
    large.style.height = `${height}px`;
    paper.style.width = `${turned ? height : width}px`;
    paper.style.height = `${turned ? width : height}px`;
    apply(large, viewOf(current));
  }

  async function zoom(image) {
    current = image;
    large.src = image.src;
    dialog.showModal();
    await large.decode().catch(() => {});
    lay();
    scroller.scrollTo((scroller.scrollWidth - scroller.clientWidth) / 2, (scroller.scrollHeight - scroller.clientHeight) / 2);
  }

  dialog.addEventListener("click", (event) => {
    const tool = event.target.closest("[data-tool]")?.dataset.tool;
    if (tool) use(current, tool);
    else if (event.target.closest(".zoom-in")) dialog.close();
  });
  dialog.addEventListener("keydown", (event) => {
    const tool = IMAGE_KEYS[event.key.toLowerCase()];
    if (!tool || event.ctrlKey || event.metaKey || event.altKey) return;
    use(current, tool);
    event.preventDefault();
  });
  dialog.addEventListener("close", () => { current = null; });
  addEventListener("resize", lay);
  return { use, zoom };
}
