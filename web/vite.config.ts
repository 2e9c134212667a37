import { defineConfig } from "vite";

export default defineConfig({
  build: {
    target: "es2022",
    // The server's content policy forbids inline scripts and styles: everything stays a file.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // three.js is most of the bundle and is needed for the first picture: splitting it gains nothing.
    chunkSizeWarningLimit: 1500,
  },
  server: {
    // `npm run dev` beside a running `trocar serve --port 8787`.
    proxy: { "/ws": { target: "ws://127.0.0.1:8787", ws: true } },
  },
});
