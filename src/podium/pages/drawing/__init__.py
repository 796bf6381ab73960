"""Pictures as SVG: geometry stands in attributes, colours in the classes of `podium.css`."""
