package validate

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/conformance/submission"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/validate"
)

// boardSteps is the title of the board's group of steps.
const boardSteps = "steps"

// showStepEvent puts what a validation tells on the board; of a step that is only
// recommended, that it is.
func showStepEvent(board *display.Board, e plan.Event, recommended []string) {
	switch e.Kind {
	case plan.EventStarted:
		board.Set(boardSteps, e.Step, display.Running, "")
	case plan.EventProgress, plan.EventPrepare:
		board.Progress(boardSteps, e.Step, e.Text)
	case plan.EventVerdict, plan.EventKept:
		text := e.Result.Reason
		if slices.Contains(recommended, e.Step) {
			text = "recommended, fails nothing: " + text
		}
		board.Set(boardSteps, e.Step, stateOf(e.Result.Verdict), text)
	case plan.EventNote:
		board.Log("note: %s", e.Text)
	case plan.EventObserved:
	}
}

// printValidation shows what became of a validation: the table of steps, those of
// several checks with a row each, then every finding.
func printValidation(w io.Writer, r validate.Report, style display.Style) {
	hardware := ""
	if r.Simulated {
		hardware = ", SIMULATED hardware"
	}
	fmt.Fprintf(w, "\n%s  validation for %s, CNCF AI Conformance %s\nsite %s, profile %s, recipe %s%s\n\n",
		style.Bold("run "+r.Run), r.Intent, r.Conformance, r.Site, r.Profile, r.Recipe, hardware)
	fmt.Fprintf(w, "  %-2s %-28s %-14s %8s  %s\n", "#", "STEP", "VERDICT", "TOOK", "OBSERVED")
	for _, s := range r.Steps {
		fmt.Fprintf(w, "  %-2d %-28s %s %8s  %s\n", s.Number, s.Name, style.State(stateOf(s.Verdict), fmt.Sprintf("%-14s", s.Verdict)), took(s.Duration), brief(s.Reason))
		if len(s.Checks)+len(s.Recommended) < 2 {
			continue
		}
		for _, c := range s.Checks {
			fmt.Fprintf(w, "       %-25s %s %8s  %s\n", c.Gate, style.State(stateOf(c.Verdict), fmt.Sprintf("%-14s", c.Verdict)), took(c.Duration), style.Dim(brief(c.Reason)))
		}
		for _, c := range s.Recommended {
			fmt.Fprintf(w, "       %-27s %s %8s  %s\n", c.Gate.Gate, style.State(standingOf(c.Status), fmt.Sprintf("%-12s", standing(c.Status))), took(c.Duration), style.Dim(brief(c.Reason)))
		}
	}
	for _, s := range r.Steps {
		for _, c := range s.Checks {
			for _, f := range c.Findings {
				fmt.Fprintf(w, "\n%s %s at %s\n  seen: %s\n  next: %s\n", style.State(stateOf(c.Verdict), "✗"), style.Bold(f.Suspect), c.Gate, indent(f.Message), indent(f.Remedy))
			}
		}
	}
	for _, note := range r.Notes {
		fmt.Fprintf(w, "\nnote: %s\n", note)
	}
	printVerdict(w, r.Verdict, r.NarrowedBy, style)
	fmt.Fprintf(w, "evidence:  %s\n", r.Evidence)
	if r.Artifacts != "" {
		fmt.Fprintf(w, "artifacts: %s\n", r.Artifacts)
	}
}

// standing is a status of a recommendation as the table has it.
func standing(status submission.Status) string {
	switch status {
	case submission.Implemented:
		return "implemented"
	case submission.PartiallyImplemented:
		return "partially"
	case submission.NotImplemented:
		return "not there"
	case submission.NotApplicable:
		return "n/a"
	default:
		return "open"
	}
}

// standingOf is how it is shown: a recommendation fails nothing.
func standingOf(status submission.Status) display.State {
	if status == submission.Implemented {
		return display.Done
	}
	return display.Waiting
}

// took is a duration in seconds for people; nothing where nothing was done.
func took(seconds float64) string {
	if seconds <= 0 {
		return ""
	}
	return display.Seconds(time.Duration(seconds * float64(time.Second)))
}

// rowWidth is how much of what was observed a row of the table shows; the whole is in -o json and in the evidence.
const rowWidth = 140

func brief(reason string) string {
	text := []rune(firstLine(reason))
	if len(text) <= rowWidth {
		return string(text)
	}
	return string(text[:rowWidth-1]) + "…"
}
