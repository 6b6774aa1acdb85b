// Package lint runs every rule over a recipe tree: problems found by loading, by comparing
// files with each other, and by resolving every recipe. It writes reports as text, JSON, GitHub
// annotations and SARIF 2.1.0.
package lint
