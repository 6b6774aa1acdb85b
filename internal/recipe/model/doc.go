// Package model defines the file format of a recipe tree as types: kinds of files, keys and
// their requirements. The comments are the descriptions in the published JSON Schemas. It has
// no behavior except copying.
package model
