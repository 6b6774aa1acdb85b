package plan

import (
	"fmt"
	"math"
	"strconv"

	"github.com/firstlight/firstlight/internal/check"
)

// impossible says why a figure can be of nothing that was measured; empty where it can.
func impossible(f check.Figure) string {
	switch {
	case !finite(f.Value) || !finite(f.Limit):
		return fmt.Sprintf("figure %q is %v against %v, which is no number", f.Name, f.Value, f.Limit)
	case f.Value < 0 && f.Unit != "C":
		return fmt.Sprintf("figure %q is %s %s, which is below zero", f.Name, plain(f.Value), f.Unit)
	case f.Unit == "%" && f.Value > 100:
		return fmt.Sprintf("figure %q is %s %%, which is above 100 %%", f.Name, plain(f.Value))
	case f.Unit == "fraction" && f.Value > 1:
		return fmt.Sprintf("figure %q is %s, which is above 1", f.Name, plain(f.Value))
	default:
		return ""
	}
}

// contradicts says why a judgement with this figure is no pass; empty where it may be one.
func contradicts(f check.Figure) string {
	var holds bool
	switch f.Relation {
	case "", check.Expected:
		holds = true
	case ">=":
		holds = f.Value >= f.Limit
	case "<=":
		holds = f.Value <= f.Limit
	case "==":
		holds = f.Value == f.Limit
	default:
		return fmt.Sprintf("figure %q has the unknown relation %q", f.Name, f.Relation)
	}
	if holds {
		return ""
	}
	return fmt.Sprintf("the check says passed, but %s is %s %s, and %s %s is demanded", f.Name, plain(f.Value), f.Unit, f.Relation, plain(f.Limit))
}

func plain(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
