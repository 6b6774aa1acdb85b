package preflight

import (
	"errors"
	"net/http"
	"testing"

	"oras.land/oras-go/v2/registry/remote/errcode"
)

func TestJudgeImage(t *testing.T) {
	t.Parallel()
	status := func(code int) error { return &errcode.ErrorResponse{StatusCode: code} }
	asked := imageFacts{image: "i", nodes: []string{"a", "b"}, asked: true, wanted: []string{"linux/amd64"}}
	for name, tt := range map[string]struct {
		spoil func(f *imageFacts)
		want  []string
	}{
		"in the registry": {func(f *imageFacts) { f.digest = "sha256:1" }, nil},
		"on the nodes":    {func(f *imageFacts) { f.asked, f.present = false, f.nodes }, nil},
		"right platform":  {func(f *imageFacts) { f.platforms = []string{"linux/arm64", "linux/amd64"} }, nil},
		"wrong platform":  {func(f *imageFacts) { f.platforms = []string{"linux/arm64"} }, []string{"would-stop image i: no manifest for [linux/amd64], only for [linux/arm64]"}},
		"two architectures": {func(f *imageFacts) {
			f.platforms, f.wanted = []string{"linux/amd64"}, []string{"linux/amd64", "linux/arm64"}
		}, []string{"would-stop image i: no manifest for [linux/arm64]"}},
		"invalid":          {func(f *imageFacts) { f.invalid = errors.New("no reference") }, []string{"would-stop image i: no reference"}},
		"not there":        {func(f *imageFacts) { f.err = status(http.StatusNotFound) }, []string{"would-stop image i: not found in the registry"}},
		"wrong secret":     {func(f *imageFacts) { f.err, f.credentials = status(http.StatusUnauthorized), true }, []string{"would-stop image i: refuses the pull secret: Unauthorized"}},
		"not granted":      {func(f *imageFacts) { f.err, f.credentials = status(http.StatusForbidden), true }, []string{"would-stop image i: Forbidden"}},
		"no secret":        {func(f *imageFacts) { f.err = status(http.StatusUnauthorized) }, []string{"unobserved image i: requires credentials, and the run's namespace has no pull secret"}},
		"secret not read":  {func(f *imageFacts) { f.err, f.secretsErr = status(http.StatusForbidden), errors.New("Forbidden") }, []string{"unobserved image i: requires credentials: Forbidden"}},
		"registry is ill":  {func(f *imageFacts) { f.err = status(http.StatusBadGateway) }, []string{"unobserved image i: 502"}},
		"registry is down": {func(f *imageFacts) { f.err = errors.New("connection refused") }, []string{"unobserved image i: connection refused"}},
	} {
		f := asked
		tt.spoil(&f)
		require(t, name, []Line{judgeImage(f)}, tt.want...)
	}
}
