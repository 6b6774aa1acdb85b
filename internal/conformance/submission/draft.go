package submission

import (
	"bytes"
	"fmt"
	"path"
	"strings"
)

// draftFile marks a directory as a draft, and has the reasons.
const draftFile = "DRAFT.md"

// draftMark is in every file of a draft whose format permits a comment.
const draftMark = "DRAFT, not to be submitted"

// The marks of evidence from simulated or unidentified hardware, in a transcript and in
// junit.xml.
const (
	hardwareKey       = "hardware"
	simulatedHardware = "simulated"
	unknownHardware   = "not identified"
	simulatedCase     = `name="simulated" value="true"`
	unknownCase       = `name="simulated" value="not identified"`
)

// unfitReason returns why evidence with this beginning cannot be submitted; empty if it can.
func unfitReason(head []byte) string {
	switch {
	case bytes.Contains(head, []byte(draftMark)):
		return "is from a draft"
	case bytes.Contains(head, []byte("- "+hardwareKey+": "+simulatedHardware)), bytes.Contains(head, []byte(simulatedCase)):
		return "is from simulated hardware"
	case bytes.Contains(head, []byte("- "+hardwareKey+": "+unknownHardware)), bytes.Contains(head, []byte(unknownCase)):
		return "is from hardware that was not identified"
	default:
		return ""
	}
}

// draftText renders draftFile.
func (s *Submission) draftText(run Run) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\nThis directory is a draft of a submission for %s, from run %s. Reasons:\n\n", draftMark, s.Version, run.ID)
	for _, why := range s.Draft {
		fmt.Fprintf(&b, "- %s\n", oneLine(why))
	}
	b.WriteString("\nThe other files of the draft are marked as well: none of them can be submitted.\n")
	return []byte(b.String())
}

// marked adds the mark of a draft as the first line of a text file of evidence.
func (s *Submission) marked(file File) File {
	if len(s.Draft) == 0 {
		return file
	}
	mark := map[string]string{".md": "> " + draftMark + "\n\n", ".txt": draftMark + "\n", ".log": draftMark + "\n", ".yaml": "# " + draftMark + "\n"}[path.Ext(file.Name)]
	return File{Name: file.Name, Content: append([]byte(mark), file.Content...)}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
