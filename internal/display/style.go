package display

// State is the state of a row.
type State string

// The states.
const (
	Waiting State = "waiting"
	Running State = "running"
	Done    State = "done"
	Failed  State = "failed"
	Unknown State = "unobserved"
	Blocked State = "blocked"
	Skipped State = "not-applicable"
)

const (
	reset  = "\x1b[0m"
	bold   = "\x1b[1m"
	dim    = "\x1b[2m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	cyan   = "\x1b[36m"
)

// Style paints when Color is set.
type Style struct{ Color bool }

func (s Style) paint(code, text string) string {
	if !s.Color {
		return text
	}
	return code + text + reset
}

// Bold emphasizes text.
func (s Style) Bold(text string) string { return s.paint(bold, text) }

// Dim de-emphasizes text.
func (s Style) Dim(text string) string { return s.paint(dim, text) }

// State paints text in the colour of a state.
func (s Style) State(st State, text string) string {
	switch st {
	case Done:
		return s.paint(green, text)
	case Failed:
		return s.paint(red, text)
	case Unknown, Blocked:
		return s.paint(yellow, text)
	case Running:
		return s.paint(cyan, text)
	case Waiting, Skipped:
		return s.paint(dim, text)
	default:
		return text
	}
}

// Mark is a one-character symbol of a state; frame animates running rows.
func (s Style) Mark(st State, frame int) string {
	frames := []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}
	marks := map[State]string{Done: "✓", Failed: "✗", Unknown: "?", Blocked: "■", Skipped: "–", Waiting: "·"}
	if st == Running {
		return s.State(st, frames[frame%len(frames)])
	}
	return s.State(st, marks[st])
}
