package attest

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

//go:embed statement.schema.json
var schema []byte

// Schema is the JSON Schema of a statement.
func Schema() []byte { return slices.Clone(schema) }

// decodeStatement reads a payload: a statement of our predicate type, exactly
// in the form in which it is written. It returns every problem, and the
// statement as far as it could be read.
func decodeStatement(payload []byte) (Statement, []string) {
	problems, err := violations(payload)
	if err != nil {
		return Statement{}, []string{err.Error()}
	}
	var s Statement
	if err := decodeStrictly(payload, &s); err != nil {
		return s, append(problems, "decode the statement: "+err.Error())
	}
	if again, err := json.Marshal(s); len(problems) == 0 && (err != nil || !bytes.Equal(again, payload)) {
		problems = append(problems, "the statement is not in the one form in which it is written: a key may be there twice")
	}
	return s, problems
}

// compiled is the schema, read once.
var compiled = sync.OnceValues(compile)

func compile() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, fmt.Errorf("read the statement's schema: %w", err)
	}
	const name = "statement.schema.json"
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name, doc); err != nil {
		return nil, fmt.Errorf("read the statement's schema: %w", err)
	}
	s, err := c.Compile(name)
	if err != nil {
		return nil, fmt.Errorf("read the statement's schema: %w", err)
	}
	return s, nil
}

// violations holds a payload against the schema.
func violations(payload []byte) ([]string, error) {
	s, err := compiled()
	if err != nil {
		return nil, err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(payload))
	if err != nil {
		return nil, fmt.Errorf("decode the statement: %w", err)
	}
	err = s.Validate(value)
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if err != nil && !ok {
		return nil, fmt.Errorf("hold the statement against its schema: %w", err)
	}
	if !ok {
		return nil, nil
	}
	var out []string
	for _, unit := range invalid.BasicOutput().Errors {
		if unit.Error != nil && len(unit.Errors) == 0 {
			out = append(out, cmp.Or(unit.InstanceLocation, "/")+": "+unit.Error.String())
		}
	}
	return out, nil
}
