package capacity

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/profile"
)

// Where NVLink connects the nodes of a rack, a new node needs an accepted one in its rack.
func TestANewNodeOfARack(t *testing.T) {
	t.Parallel()
	s, inside := fixture(t)
	between, err := profile.Load("gb200-nvl72-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	for text, tt := range map[string]struct {
		p    *profile.Profile
		want string
	}{
		"nodes: [{name: new-01, rack: r2}]":                           {between, ""},
		"nodes: [{name: new-01, rack: r9}]":                           {inside, ""},
		"nodes: [{name: new-01}]":                                     {inside, ""},
		"nodes: [{name: new-02, rack: r9}]":                           {between, "new-02 cannot be compared with an accepted node"},
		"nodes: [{name: new-03}]":                                     {between, "new-03 cannot be compared with an accepted node"},
		"nodes: [{name: new-04, rack: r1}, {name: new-05, rack: r9}]": {between, "new-05 cannot"},
	} {
		_, planned := Planned(s, tt.p, file(t, text))
		b := base(t, "")
		b.figures = tt.p
		_, added := b.Add(s, tt.p, file(t, text))
		for _, err := range []error{planned, added} {
			if (err == nil) != (tt.want == "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}
