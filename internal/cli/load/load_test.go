package load_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	command "github.com/firstlight/firstlight/internal/cli/load"
	"github.com/firstlight/firstlight/internal/gate/inference/load"
)

func run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	s := cmdutil.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}
	code = cmdutil.Execute(t.Context(), command.New(s), args, s)
	return out.String(), errs.String(), code
}

func TestLoadPrintsAResultThatIsRead(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/health":
		case "/v1/completions":
			for range 2 {
				fmt.Fprint(w, "data: {\"choices\":[{\"text\":\" a\"}]}\n\n")
				_ = http.NewResponseController(w).Flush()
			}
			fmt.Fprint(w, "data: {\"choices\":[],\"usage\":{\"completion_tokens\":2}}\n\ndata: [DONE]\n\n")
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	p := load.Plan{URL: server.URL, Model: "m", Prompt: "a b", RatePerSecond: 100, Requests: 5, Warmup: 1, InputTokens: 4, OutputTokens: 2, ReachSeconds: 5, TimeoutSeconds: 30}
	text, err := p.JSON()
	if err != nil {
		t.Fatal(err)
	}
	out, errs, code := run(t, "--plan", text)
	if code != 0 {
		t.Fatal(code, errs)
	}
	f, err := load.Read([]byte(out), p)
	if err != nil || len(f.Requests) != 5 || f.Requests[4].Error != "" || f.Requests[4].Tokens != 2 {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestInvalidPlan(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"--plan", "{"}, {"--plan", `{"rate":1}`}} {
		if _, errs, code := run(t, args...); code != cmdutil.ExitUsage || !strings.Contains(errs, "--plan: invalid plan") {
			t.Errorf("%q: exit %d: %s", args, code, errs)
		}
	}
}
