package check

import "fmt"

// Meets reports whether the value meets the limit; a figure without a threshold does. An
// unknown relation is an error.
func (f Figure) Meets() (bool, error) {
	switch f.Relation {
	case "", Expected:
		return true, nil
	case ">=":
		return f.Value >= f.Limit, nil
	case "<=":
		return f.Value <= f.Limit, nil
	case "==":
		return f.Value == f.Limit, nil
	default:
		return false, fmt.Errorf("figure %q has the unknown relation %q", f.Name, f.Relation)
	}
}
