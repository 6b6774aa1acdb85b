// Package schema makes JSON Schemas (2020-12) of the recipe format: of the types
// in model, their tags and the comments on them. They are published in
// recipes/schemas, for editors and other tools; go generate writes them anew, and
// a test holds them to the types and to what the strict reader accepts.
package schema

//go:generate go run ./gen ../../..
