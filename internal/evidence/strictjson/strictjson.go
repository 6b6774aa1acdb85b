// Package strictjson decodes JSON that says one thing: no key twice in an object, also in
// another case (encoding/json takes either), and nothing behind the document.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ErrTwice is of a document that has a key twice.
var ErrTwice = errors.New("the document has a key twice")

// Unmarshal is json.Unmarshal for such documents.
func Unmarshal(data []byte, v any) error {
	if err := Check(data); err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

// Check refuses what is not one such document.
func Check(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := value(dec, 0); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the document")
	}
	return nil
}

// maxDepth is that of encoding/json, which applies it to values and not to tokens. Without it a document of a few
// million brackets ends the process: Go bounds the stack.
const maxDepth = 10_000

func value(dec *json.Decoder, depth int) error {
	t, err := dec.Token()
	if err != nil {
		return err
	}
	if depth > maxDepth {
		return fmt.Errorf("the document is nested more than %d levels deep", maxDepth)
	}
	switch t {
	case json.Delim('{'):
		err = object(dec, depth)
	case json.Delim('['):
		for err == nil && dec.More() {
			err = value(dec, depth+1)
		}
	default:
		return nil
	}
	if err == nil {
		_, err = dec.Token()
	}
	return err
}

func object(dec *json.Decoder, depth int) error {
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string)
		folded := strings.ToLower(key)
		if seen[folded] {
			return fmt.Errorf("%w: %q", ErrTwice, key)
		}
		seen[folded] = true
		if err := value(dec, depth+1); err != nil {
			return err
		}
	}
	return nil
}
