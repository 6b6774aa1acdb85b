package plan

import "github.com/firstlight/firstlight/internal/check"

// Counted is a step of a run as its overall verdict counts it.
type Counted struct {
	Name string
	// Recommended: the step must have a verdict, which counts only if the step runs alone.
	Recommended bool
}

// Overall is the verdict of a run: of the selected steps, or of the step only if it is set. A
// step without a result is unobserved. A run that left objects in the cluster does not pass.
func Overall(steps []Counted, only string, results map[string]Result, uncleaned []string) check.Verdict {
	var verdicts []check.Verdict
	for _, s := range steps {
		r, ok := results[s.Name]
		switch {
		case ok && s.Recommended && only == "":
		case ok:
			verdicts = append(verdicts, r.Verdict)
		case only == "" || only == s.Name:
			verdicts = append(verdicts, check.Unobserved)
		}
	}
	return cleaned(check.Overall(verdicts), uncleaned)
}

func cleaned(v check.Verdict, uncleaned []string) check.Verdict {
	if v.Holds() && len(uncleaned) > 0 {
		return check.Unobserved
	}
	return v
}

// AddUncleaned adds an error of the final clean-up.
func (o *Outcome) AddUncleaned(err error) {
	o.Uncleaned = append(o.Uncleaned, err.Error())
	o.Verdict = cleaned(o.Verdict, o.Uncleaned)
}

// overall is the verdict of the steps up to Until.
func (x *execution) overall() check.Verdict {
	var steps []Counted
	for _, s := range x.order {
		steps = append(steps, Counted{Name: s.Name(), Recommended: s.Recommended})
		if s.Name() == x.executor.Until {
			break
		}
	}
	return Overall(steps, x.executor.Only, x.results, nil)
}
