import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { licences } from "./licences";

export default defineConfig({
  base: "./", // the page stands wherever the agent does, below a path of an ingress too
  plugins: [react(), licences()],
  build: {
    outDir: "../../utils/web/built",
    emptyOutDir: true,
    assetsDir: "page",
    assetsInlineLimit: 0, // the Content-Security-Policy takes files of this origin alone
    modulePreload: { polyfill: false },
    target: "es2022",
    reportCompressedSize: false,
  },
  server: { proxy: { "/rest": "http://127.0.0.1:8000", "/.well-known": "http://127.0.0.1:8000", "/readyz": "http://127.0.0.1:8000" } },
});
