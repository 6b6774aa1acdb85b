package hook

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

var block = regexp.MustCompile("(?s)```(json|yaml)\n(.*?)```")

// The page's examples are what is read, and its figures those that hold.
func TestThePage(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../../docs/hooks.md")
	if err != nil {
		t.Fatal(err)
	}
	page, seen := string(raw), 0
	var request Request
	for _, m := range block.FindAllStringSubmatch(page, -1) {
		text := []byte(m[2])
		switch {
		case m[1] == "yaml":
			if _, err := Parse(example, text); err != nil {
				t.Error(err)
			}
		case strings.Contains(m[2], `"verb"`):
			if request, err = ParseRequest(text); err != nil {
				t.Fatal(err)
			}
			if want := NameOf("day", request.Reservation.Slug, request.Lease.Token); request.Deployment != want {
				t.Errorf("the example is called %s, it would be %s", request.Deployment, want)
			}
		default:
			for key, verb := range map[string]Verb{`"deployment"`: Provision, `"deleted"`: Teardown, `"nodes"`: GetNodes, `"deployments"`: Discover, `"result"`: Test, `"error"`: GetNodes} {
				if !strings.Contains(m[2], key) {
					continue
				}
				seen++
				request.Verb = verb
				if _, err := ParseResponse(text, request); err != nil {
					t.Errorf("%s\n%v", m[2], err)
				}
			}
		}
	}
	if seen != 6 {
		t.Errorf("the page has %d responses, want one of each verb and an error", seen)
	}
	for verb, l := range DefaultLimits() {
		row := fmt.Sprintf("| %s | %s | %d | %s |", verb, short(l.Time), l.Attempts, short(l.Backoff))
		if !strings.Contains(page, row) {
			t.Errorf("the page has no row %s", row)
		}
	}
}

func short(d fmt.Stringer) string {
	return strings.Replace(strings.Replace(d.String(), "m0s", "m", 1), "h0m", "h", 1)
}
