package site

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Duration is a time span written as Go writes it: "90s", "1h30m".
type Duration time.Duration

// D converts.
func (d Duration) D() time.Duration { return time.Duration(d) }

// UnmarshalYAML reads "90s"; a bare number has no unit and is refused.
func (d *Duration) UnmarshalYAML(n *yaml.Node) error {
	v, err := time.ParseDuration(n.Value)
	if err != nil {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: invalid duration %q: must be a number with a unit, such as 30s, 5m or 1h", n.Line, n.Value)}}
	}
	if v < 0 {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: duration %s is negative", n.Line, n.Value)}}
	}
	*d = Duration(v)
	return nil
}

// MarshalYAML writes "1m30s".
func (d Duration) MarshalYAML() (any, error) { return time.Duration(d).String(), nil }

// MarshalJSON writes "1m30s".
func (d Duration) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Duration(d).String())
}

// UnmarshalJSON reads "1m30s".
func (d *Duration) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("duration: %w", err)
	}
	v, err := time.ParseDuration(s)
	if err != nil {
		return fmt.Errorf("duration: %w", err)
	}
	*d = Duration(v)
	return nil
}

// Quantity is a number with its unit: "120 kW", "2000 kg".
type Quantity struct {
	Value float64
	Unit  string
}

// unitScale maps what may be written to the base unit and factor.
func unitScale(unit string) (base string, factor float64, ok bool) {
	switch unit {
	case "kW":
		return "kW", 1, true
	case "W":
		return "kW", 0.001, true
	case "MW":
		return "kW", 1000, true
	case "kg":
		return "kg", 1, true
	case "t":
		return "kg", 1000, true
	default:
		return "", 0, false
	}
}

// ParseQuantity reads "120 kW"; the result is in kW or kg.
func ParseQuantity(s string) (Quantity, error) {
	s = strings.TrimSpace(s)
	i := strings.LastIndexAny(s, "0123456789.")
	if i < 0 || i+1 >= len(s) {
		return Quantity{}, fmt.Errorf("%q needs a number and a unit, such as \"120 kW\" or \"2000 kg\"", s)
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(s[:i+1]), 64)
	if err != nil || v < 0 {
		return Quantity{}, fmt.Errorf("%q does not start with a positive number", s)
	}
	base, factor, ok := unitScale(strings.TrimSpace(s[i+1:]))
	if !ok {
		return Quantity{}, fmt.Errorf("%q: unknown unit %q: use W, kW or MW for power and heat, kg or t for weight", s, strings.TrimSpace(s[i+1:]))
	}
	return Quantity{Value: v * factor, Unit: base}, nil
}

// String writes "120 kW".
func (q Quantity) String() string {
	return strconv.FormatFloat(q.Value, 'f', -1, 64) + " " + q.Unit
}

// UnmarshalYAML reads "120 kW".
func (q *Quantity) UnmarshalYAML(n *yaml.Node) error {
	v, err := ParseQuantity(n.Value)
	if err != nil {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: %s", n.Line, err)}}
	}
	*q = v
	return nil
}

// MarshalYAML writes "120 kW".
func (q Quantity) MarshalYAML() (any, error) {
	if q.Unit == "" {
		return "", nil
	}
	return q.String(), nil
}

// MarshalJSON writes "120 kW".
func (q Quantity) MarshalJSON() ([]byte, error) {
	return json.Marshal(q.String())
}

// UnmarshalJSON reads "120 kW".
func (q *Quantity) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("quantity: %w", err)
	}
	v, err := ParseQuantity(s)
	if err != nil {
		return err
	}
	*q = v
	return nil
}
