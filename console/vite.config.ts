import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// Where a running platform is, for `make console-dev`.
const platform = process.env.CANOPY_URL ?? "http://localhost:8080";

export default defineConfig({
  base: "/console/",
  plugins: [react()],
  resolve: {
    alias: { "canopy-client": new URL("../clients/typescript/dist/index.js", import.meta.url).pathname },
    // The client has the package of its own folder, the console that of its own: one is enough.
    dedupe: ["graphql-ws"],
  },
  build: {
    target: "es2023",
    // Everything is a file of the platform's own: the policy of the page takes no data: address.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: "licenses.md" },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // What changes with a dependency alone keeps its name, and browsers their copy, when the console changes.
        codeSplitting: { groups: [{ name: "react", test: /node_modules\/(react|react-dom|scheduler)\// }] },
      },
    },
  },
  server: {
    strictPort: true,
    proxy: {
      "^/(?!console/)": { target: platform, ws: true },
      // What stands in the page beside the console is asked for below it here.
      "/console/favicon.ico": { target: platform, rewrite: () => "/favicon.ico" },
    },
  },
});
