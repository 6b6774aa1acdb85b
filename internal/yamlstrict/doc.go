// Package yamlstrict decodes YAML strictly: an unknown key, a duplicate key or a value of
// the wrong type is a diagnostic with file, line and column, and all of them are returned
// at once. Struct tags declare what a type requires of its keys:
//
//	yaml:"name"         the key
//	need:"true"         the key must be present and not empty
//	enum:"Helm,Chart"   the allowed values
//	min:"0"             the least allowed value
//
// The package reads no files. Size, depth and the expansion of anchors are bounded.
package yamlstrict
