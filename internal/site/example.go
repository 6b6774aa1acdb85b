package site

import _ "embed"

//go:embed data/example.yaml
var example []byte

// Example is a commented site file that passes Parse.
func Example() []byte { return append([]byte(nil), example...) }
