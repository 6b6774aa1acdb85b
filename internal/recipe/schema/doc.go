// Package schema generates JSON Schemas (2020-12) of the recipe format from the types in model,
// their tags and comments. They are published in recipes/schemas for editors and other tools.
// go generate updates them; a test compares them with the types and with the strict decoder.
package schema

//go:generate go run ./gen ../../..
