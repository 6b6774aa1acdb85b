// Package guard converts the panic of a parser to an error. The output of clusters and hosts
// is untrusted input: some libraries panic on malformed input, and a panic in a goroutine
// terminates the process.
package guard

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ErrPanic is returned for input on which a parser panicked.
var ErrPanic = errors.New("the parser panicked on malformed input")

// Parse calls parse. A panic is returned as an error that names the input; the value is then
// zero.
func Parse[T any](what string, parse func() (T, error)) (value T, err error) {
	defer func() {
		if p := recover(); p != nil {
			var zero T
			value, err = zero, fmt.Errorf("read %s: %w (%v)", what, ErrPanic, p)
		}
	}()
	return parse()
}

// JSON decodes the response of a cluster; types of other libraries have their own decoders.
func JSON(data []byte, value any) error {
	_, err := Parse("JSON", func() (struct{}, error) { return struct{}{}, json.Unmarshal(data, value) })
	return err
}
