// Package model is the format of a recipe tree: the kinds of files, their keys
// and what those demand. The comments on types and fields are what the published
// JSON Schemas say of them. It has types and no behaviour but copying.
package model
