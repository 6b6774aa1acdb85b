package preflight

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestJudgeAPI(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err  error
		want []string
	}{
		"answers": {nil, nil},
		"down":    {errors.New("connection refused"), []string{"would-stop Kubernetes API h: connection refused", "unobserved cluster h: were not checked"}},
		"refuses": {apierrors.NewUnauthorized("expired"), []string{"would-stop Kubernetes API h: refuses the credentials", "unobserved cluster h: were not checked"}},
	} {
		lines, reached := judgeAPI("h", "v1", tt.err)
		require(t, name, lines, tt.want...)
		if reached != (tt.err == nil) {
			t.Errorf("%s: reached %t", name, reached)
		}
	}
}
