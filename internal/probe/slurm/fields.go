package slurm

import (
	"regexp"
	"slices"
	"strings"
)

// assignment begins a field of a record in one line: "Key=" after a space or at the start.
var assignment = regexp.MustCompile(`(?:^| )([A-Za-z][A-Za-z0-9_]*)=`)

// continued matches the end of a line whose record continues in the next, which is indented: scontrol without -o.
var continued = regexp.MustCompile(` ?\r?\n +`)

// oneLine is scontrol's output with every record in one line, as with -o.
func oneLine(raw []byte) []byte { return continued.ReplaceAll(raw, []byte(" ")) }

// last are the fields of a node that end its line, in this order. Their values are texts of people, who
// may write "State=" in a reason.
var last = []string{"Reason", "Comment", "Extra", "InstanceId", "InstanceType", "ReservationName"}

// fields are those of a line of scontrol -o, the first of each name. Values may have spaces.
func fields(line string) map[string]string {
	out := map[string]string{}
	key, begin := "", 0
	for _, m := range assignment.FindAllStringSubmatchIndex(line, -1) {
		name := line[m[2]:m[3]]
		if slices.Contains(last, key) && slices.Index(last, name) <= slices.Index(last, key) {
			continue // a word of the text
		}
		add(out, key, line[begin:m[0]])
		key, begin = name, m[1]
	}
	add(out, key, line[begin:])
	return out
}

func add(out map[string]string, key, value string) {
	if _, known := out[key]; !known && key != "" {
		out[key] = strings.TrimSpace(value)
	}
}
