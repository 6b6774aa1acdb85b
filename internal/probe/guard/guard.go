// Package guard is the one place where a panic of a parser becomes an error.
// What clusters and hosts print is input of others: libraries that read it
// panic on some of it, and a panic in a goroutine ends the whole process.
package guard

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ErrPanic says that a parser panicked on its input.
var ErrPanic = errors.New("the parser panicked: the input is malformed in a way that it does not expect")

// Parse runs a parser in the caller's goroutine. A panic is an error that names
// what was read, and the value is then the zero one: nothing was read.
func Parse[T any](what string, parse func() (T, error)) (value T, err error) {
	defer func() {
		if p := recover(); p != nil {
			var none T
			value, err = none, fmt.Errorf("read %s: %w (%v)", what, ErrPanic, p)
		}
	}()
	return parse()
}

// JSON decodes an answer of a cluster into value; types of other libraries
// decode themselves.
func JSON(data []byte, value any) error {
	_, err := Parse("JSON", func() (struct{}, error) { return struct{}{}, json.Unmarshal(data, value) })
	return err
}
