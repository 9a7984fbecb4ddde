/** The rules of the console's code. Those about layout are prettier's business. */
import { fileURLToPath } from "node:url";

import reactHooks from "eslint-plugin-react-hooks";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["node_modules", "dist", "src/api/schema.d.ts", "*.mjs"] },
  ...tseslint.configs.strictTypeChecked,
  {
    plugins: { "react-hooks": reactHooks },
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: fileURLToPath(new URL(".", import.meta.url)) } },
    rules: {
      ...reactHooks.configs.recommended.rules,
      eqeqeq: "error",
      "max-lines": ["error", 300],
      "max-lines-per-function": ["error", 70],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
    },
  },
);
