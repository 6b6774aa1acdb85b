package plan

import (
	"fmt"
	"math"
	"strconv"

	"github.com/firstlight/firstlight/internal/check"
)

// impossible explains why a figure cannot be a measurement; "" for a possible figure.
func impossible(f check.Figure) string {
	switch {
	case !finite(f.Value) || !finite(f.Limit):
		return fmt.Sprintf("figure %q is %v with limit %v: must be finite numbers", f.Name, f.Value, f.Limit)
	case f.Value < 0 && f.Unit != "C":
		return fmt.Sprintf("figure %q is %s %s: must not be negative", f.Name, plain(f.Value), f.Unit)
	case f.Unit == "%" && f.Value > 100:
		return fmt.Sprintf("figure %q is %s %%: must be at most 100 %%", f.Name, plain(f.Value))
	case f.Unit == "fraction" && f.Value > 1:
		return fmt.Sprintf("figure %q is %s: must be at most 1", f.Name, plain(f.Value))
	default:
		return ""
	}
}

// contradicts explains why a judgement with this figure cannot pass; "" if it can.
func contradicts(f check.Figure) string {
	switch met, err := f.Meets(); {
	case err != nil:
		return err.Error()
	case met:
		return ""
	}
	return fmt.Sprintf("the check passed, but %s is %s %s, want %s %s", f.Name, plain(f.Value), f.Unit, f.Relation, plain(f.Limit))
}

func plain(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
