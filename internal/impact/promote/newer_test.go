package promote_test

import (
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/impact/promote"
)

// A newer run in which a recipe failed was passed over since one of its shards had no record,
// and the older run qualified.
func TestAFailureInANewerRunCountsThoughItIsNotWhole(t *testing.T) {
	t.Parallel()
	in := good()
	newer := good().Records[0]
	newer.Plan, newer.When = "newer", time.Unix(200, 0)
	newer.Verdict, newer.Reason = check.Failed, "a failed"
	newer.Recipes[0].Verdict, newer.Recipes[0].Reason = check.Failed, "unbound"
	in.Records = append(in.Records, newer)
	if got := promote.Judge(in); got.Qualifies || !strings.Contains(strings.Join(got.Reasons, " "), "failed in a newer run") {
		t.Errorf("%+v", got)
	}
}
