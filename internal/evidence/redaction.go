package evidence

import (
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence/redact"
)

// withoutSecrets redacts an observation before it is stored and judged.
func withoutSecrets(o check.Observation) check.Observation {
	o.Target, o.Command, o.Origin, o.Err = redact.String(o.Target), redact.String(o.Command), redact.String(o.Origin), redact.String(o.Err)
	o.Figures, o.Raw = redact.Bytes(o.Figures), redact.Bytes(o.Raw)
	return o
}

// headerWithoutSecrets redacts run.json.
func headerWithoutSecrets(h Header) Header {
	h.Command = argumentsWithoutSecrets(h.Command)
	h.SimulatedWhy = redact.String(h.SimulatedWhy)
	return h
}

// planWithoutSecrets redacts plan.json: preparations and descriptions contain command lines of
// the site.
func planWithoutSecrets(p PlanFile) PlanFile {
	out := PlanFile{Name: p.Name, AllowFailed: p.AllowFailed}
	for _, s := range p.Steps {
		s.Prepare, s.Describe = notesWithoutSecrets(s.Prepare), notesWithoutSecrets(s.Describe)
		out.Steps = append(out.Steps, s)
	}
	return out
}

// argumentsWithoutSecrets also redacts an argument by the flag before it.
func argumentsWithoutSecrets(args []string) []string {
	out := make([]string, 0, len(args))
	flag := ""
	for _, arg := range args {
		clean := redact.String(arg)
		if flag != "" {
			clean = strings.TrimPrefix(redact.String(flag+" "+arg), flag+" ")
		}
		flag = ""
		if strings.HasPrefix(arg, "--") && !strings.Contains(arg, "=") {
			flag = arg
		}
		out = append(out, clean)
	}
	return out
}

func notesWithoutSecrets(notes []string) []string {
	if notes == nil {
		return nil
	}
	out := make([]string, 0, len(notes))
	for _, n := range notes {
		out = append(out, redact.String(n))
	}
	return out
}
