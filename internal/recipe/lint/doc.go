// Package lint runs every rule over a whole recipe tree: what loading finds, what
// is wrong between files that load, and what is wrong with the recipes that the
// overlays resolve to, each of them. Its reports are for people (text), for
// programs (JSON), for annotations of a change (GitHub) and for code scanning
// (SARIF 2.1.0).
package lint
