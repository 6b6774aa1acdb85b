package submission

import (
	"bytes"
	"fmt"
	"path"
	"strings"
)

// draftFile says of a directory that it is a draft, and why.
const draftFile = "DRAFT.md"

// draftMark is in every file of a draft that can hold a remark.
const draftMark = "DRAFT, not to be submitted"

// What evidence from simulated hardware says of itself, in a transcript and in
// junit.xml.
const (
	hardwareKey       = "hardware"
	simulatedHardware = "simulated"
	simulatedCase     = `name="simulated" value="true"`
)

// notFit says why the beginning of a file of evidence can't be submitted; empty
// when nothing in it speaks against that.
func notFit(head []byte) string {
	switch {
	case bytes.Contains(head, []byte(draftMark)):
		return "is from a draft"
	case bytes.Contains(head, []byte("- "+hardwareKey+": "+simulatedHardware)), bytes.Contains(head, []byte(simulatedCase)):
		return "is from simulated hardware"
	default:
		return ""
	}
}

// draftText is draftFile.
func (s *Submission) draftText(run Run) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\nThis directory is a draft of a submission for %s, made of run %s:\n\n", draftMark, s.Version, run.ID)
	for _, why := range s.Draft {
		fmt.Fprintf(&b, "- %s\n", oneLine(why))
	}
	b.WriteString("\nWhat says so is in its other files too, so that none of them ends in a submission.\n")
	return []byte(b.String())
}

// marked is a file of evidence as it is in a draft; text says in its first line that it is.
func (s *Submission) marked(file File) File {
	if len(s.Draft) == 0 {
		return file
	}
	mark := map[string]string{".md": "> " + draftMark + "\n\n", ".txt": draftMark + "\n", ".log": draftMark + "\n", ".yaml": "# " + draftMark + "\n"}[path.Ext(file.Name)]
	return File{Name: file.Name, Content: append([]byte(mark), file.Content...)}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
