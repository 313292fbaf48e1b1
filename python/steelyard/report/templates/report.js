// Draws the charts whose definitions stand in the page: when they become visible, and again when the theme changes.
(function () {
  "use strict";
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const drawn = new Map();

  function config(narrow) {
    const ink = dark.matches ? "#d5dae2" : "#39414d";
    const line = dark.matches ? "#39424f" : "#e3e6eb";
    const axis = { labelColor: ink, titleColor: ink, gridColor: line, domainColor: line, tickColor: line,
      titleFontWeight: "normal", labelFontSize: 11, titleFontSize: 11 };
    return { background: "transparent", font: "system-ui, sans-serif", view: { stroke: null }, axis: axis,
      rule: { color: ink }, text: { color: ink }, legend: { labelColor: ink, orient: "top", columns: narrow ? 3 : 5, symbolType: "stroke",
        symbolStrokeColor: ink } };
  }

  async function draw(holder) {
    const source = document.querySelector('script[data-for="' + holder.id + '"]');
    const width = holder.clientWidth;
    if (!source || !width) return;
    const spec = JSON.parse(source.textContent);
    spec.width = "container";
    spec.autosize = spec.autosize || { type: "fit", contains: "padding" };
    const narrow = width < 480;
    if (narrow && spec.autosize.type === "fit") spec.height = 300;
    spec.config = config(narrow);
    const before = drawn.get(holder);
    const result = await vegaEmbed(holder, spec, {
      mode: "vega-lite", ast: true, renderer: "svg",
      actions: false, tooltip: { theme: dark.matches ? "dark" : "light" },
    });
    if (before) before.finalize();
    drawn.set(holder, result);
    holder.dataset.drawn = "yes";
  }

  function failed(holder, error) {
    holder.textContent = "This chart could not be drawn: " + error.message;
  }

  function drawSoon(holder) {
    draw(holder).catch(function (error) { failed(holder, error); });
  }

  const charts = Array.from(document.querySelectorAll(".chart"));
  const seen = new IntersectionObserver(function (entries) {
    for (const entry of entries) {
      if (entry.isIntersecting) {
        seen.unobserve(entry.target);
        drawSoon(entry.target);
      }
    }
  }, { rootMargin: "600px" });
  charts.forEach(function (holder) { seen.observe(holder); });
  dark.addEventListener("change", function () { drawn.forEach(function (_, holder) { drawSoon(holder); }); });
  window.addEventListener("beforeprint", function () {
    charts.filter(function (holder) { return !drawn.has(holder); }).forEach(drawSoon);
  });
})();
