import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from "@mantine/core";

/** From the palest to the darkest. Text on the filled ones is white. */
const canopy: MantineColorsTuple = [
  "#eefbf2", "#dcf5e4", "#b9e9c8", "#86d9a0", "#5ac77d", "#34ad5e", "#22934a", "#17783a", "#166534", "#14532d",
];

export const theme = createTheme({
  primaryColor: "canopy",
  colors: { canopy },
  primaryShade: { light: 8, dark: 7 },
  defaultRadius: "md",
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  cursorType: "pointer",
});

/** What destructive buttons are filled with. */
const red = { "--mantine-color-red-filled": "#c92a2a", "--mantine-color-red-filled-hover": "#a92222" };

/** Colours of text that keep a contrast of 4.5:1 or more, and edges of fields one of 3:1, which Mantine's own do not everywhere. */
export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    ...red,
    "--mantine-color-body": "#ffffff",
    "--mantine-color-dimmed": "#4d5b52",
    "--mantine-color-placeholder": "#5f6b63",
    "--mantine-color-error": "#a1201b",
    "--mantine-color-anchor": "#166534",
    "--mantine-color-canopy-light": "#e3f1e6",
    "--mantine-color-canopy-light-hover": "#d5ead9",
    "--mantine-color-canopy-light-color": "#14532d",
    "--mantine-color-red-light-color": "#8f1d18",
    "--mantine-color-yellow-light-color": "#6b4a00",
    "--mantine-color-gray-light-color": "#37423b",
    "--mantine-color-blue-light-color": "#144b86",
    "--mantine-color-gray-4": "#87938b",
    "--mantine-color-default-border": "#ced4da",
  },
  dark: {
    ...red,
    "--mantine-color-body": "#18201b",
    "--mantine-color-text": "#e8eeea",
    "--mantine-color-dimmed": "#a9b7ae",
    "--mantine-color-placeholder": "#97a59c",
    "--mantine-color-error": "#ff9d94",
    "--mantine-color-anchor": "#86d9a0",
    "--mantine-color-canopy-light": "#1d3325",
    "--mantine-color-canopy-light-hover": "#24402e",
    "--mantine-color-canopy-light-color": "#b9e9c8",
    "--mantine-color-red-light": "#3f2321",
    "--mantine-color-red-light-color": "#ffb3ac",
    "--mantine-color-yellow-light": "#3a2f12",
    "--mantine-color-yellow-light-color": "#ffe08a",
    "--mantine-color-gray-light": "#2a342e",
    "--mantine-color-gray-light-color": "#d5dcd5",
    "--mantine-color-blue-light": "#1c2f45",
    "--mantine-color-blue-light-color": "#a5d0ff",
    "--mantine-color-dark-4": "#6b7a70",
    "--mantine-color-dark-5": "#3a463e",
    "--mantine-color-dark-6": "#222c26",
    "--mantine-color-dark-8": "#111712",
    "--mantine-color-default": "#222c26",
    "--mantine-color-default-hover": "#2a362f",
    "--mantine-color-default-border": "#3a463e",
  },
});
