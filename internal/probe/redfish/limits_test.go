package redfish_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/probe/redfish"
)

// The reader did not stop at a collection whose next page is itself, and kept a response without an end in memory.
func TestResponsesAreLimited(t *testing.T) {
	t.Parallel()
	const chassis = "/redfish/v1/Chassis"
	for name, tt := range map[string]struct{ path, body, want string }{
		"pages":    {chassis, `{"Members":[{"@odata.id":"/redfish/v1/Chassis/gpu-01"}],"Members@odata.nextLink":"/redfish/v1/Chassis"}`, "more than 100 pages"},
		"resource": {chassis + "/gpu-01", `{"Id":"` + strings.Repeat("a", 9<<20) + `"}`, "exceeds 8 MiB"},
	} {
		resources := healthy()
		resources[tt.path] = tt.body
		got, err := redfish.Read(t.Context(), start(t, resources))
		if text := fmt.Sprintf("%v %+v", err, got); !strings.Contains(text, tt.want) {
			t.Errorf("%s: %.400s, want %q", name, text, tt.want)
		}
	}
}
