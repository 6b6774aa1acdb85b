package attest

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

//go:embed statement.schema.json
var schema []byte

// decodeStatement decodes a payload: a statement of PredicateType in its canonical form. It
// returns every problem, and the statement as far as it is readable.
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
		problems = append(problems, "the statement is not in canonical form: possibly a duplicate key")
	}
	return s, problems
}

// compiled is the compiled schema.
var compiled = sync.OnceValues(compile)

func compile() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, fmt.Errorf("read the statement schema: %w", err)
	}
	const name = "statement.schema.json"
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name, doc); err != nil {
		return nil, fmt.Errorf("read the statement schema: %w", err)
	}
	s, err := c.Compile(name)
	if err != nil {
		return nil, fmt.Errorf("read the statement schema: %w", err)
	}
	return s, nil
}

// violations validates a payload against the schema.
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
		return nil, fmt.Errorf("validate the statement: %w", err)
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
