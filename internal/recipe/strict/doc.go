// Package strict reads YAML so that nothing in it is overlooked: every unknown
// key, key that is there twice and value of a wrong type comes back with its
// file, line and column, all of them at once. What a type demands of its keys
// stands in its struct tags:
//
//	yaml:"name"         the key
//	need:"true"         it must be there and not be empty
//	enum:"Helm,Chart"   its values
//	min:"0"             its least value
//
// It reads no files, and it is bounded: size, depth and what anchors expand to.
package strict
