package servicemetrics

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// Every field of what Prometheus and the API say is demanded, or it is said here why not.
func TestEveryField(t *testing.T) {
	t.Parallel()
	checktest.EveryField(t, "spoilt", theCheck(t).Judge, healthy().observations(t), checktest.Harmless{
		"the last observation of a kind decides":            {`.*: twice`},
		"it names what is looked at, for people":            {`discovery.* .(by|key|value|where): .*`, `inference-server.* .pod.(ip|node|phase): .*`, `pod@pod .(ip|name|namespace|node|phase): .*`, `custom-metric.* .(at|metric): .*`, `requests.* .(done|failed): .*`},
		"what the server had before is not judged":          {`inference-server.* .value: .*`},
		"a longer watch with more looks, or enough of them": {`scraped-series@without-mark(-again)? .(from|to|looks|first|gone): .*`},
		"no series is what is left out in JSON":             {`scraped-series@without-mark(-again)? .series: left out`},
		"one request at a time is seen as one at least":     {`custom-metric@idle .value: .*`, `requests.* .(api|prometheus|sideBySide): .*`},
		"after the requests it is the same pod's, and zero": {`custom-metric@after-requests .(namespace|pod|value): .*`},
	})
}
