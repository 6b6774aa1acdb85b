package labprovider

import (
	"context"

	"github.com/firstlight/firstlight/internal/reservation/hook"
)

// Test looks at nothing yet.
func (p *Provider) Test(context.Context, hook.Request) (hook.Result, error) {
	return hook.Result{Verdict: hook.Unobserved, Why: "labs are not tested yet"}, nil
}
