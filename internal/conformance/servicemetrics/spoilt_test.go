package servicemetrics

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// TestEveryField: the verdict depends on every field of the answers of Prometheus and the API,
// except for those that are listed here with the reason.
func TestEveryField(t *testing.T) {
	t.Parallel()
	checktest.EveryField(t, "spoilt", theCheck(t).Judge, healthy().observations(t), checktest.Harmless{
		"the last observation of a kind decides":                     {`.*: twice`},
		"it names the subject for the reader":                        {`discovery.* .(by|key|value|where): .*`, `inference-server.* .pod.(ip|node|phase): .*`, `pod@pod .(ip|name|namespace|node|phase): .*`, `custom-metric.* .(at|metric): .*`, `requests.* .(done|failed): .*`},
		"earlier values of the server are not judged":                {`inference-server.* .value: .*`},
		"a longer watch with more polls, or enough of them":          {`scraped-series@without-mark(-again)? .(from|to|looks|first|gone): .*`},
		"JSON omits an empty list":                                   {`scraped-series@without-mark(-again)? .series: left out`},
		"one request at a time counts as at least one":               {`custom-metric@idle .value: .*`, `requests.* .(api|prometheus|sideBySide): .*`},
		"a value that follows does so however often it was read":     {`requests.* .reads: .*`},
		"after the requests the metric is of the same pod, and zero": {`custom-metric@after-requests .(namespace|pod|value): .*`},
	})
}
