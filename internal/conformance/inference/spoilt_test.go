package inference

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// TestEveryField: the verdict depends on every field of routes and answers, except for those
// that are listed here with the reason.
func TestEveryField(t *testing.T) {
	t.Parallel()
	c := aCheck()
	checktest.EveryField(t, "spoilt", c.Judge, goodStory(c).observations(t), checktest.Harmless{
		"the Gateway's own condition shows that its class is accepted":                  {`gateway-classes.* .classes.*: .*`},
		"stand-ins run without GPUs":                                                    {`free-gpus.*: .*`},
		"it names the subject for the reader":                                           {`model-servers.* .(direct.at|pod|state): .*`, `gateway@.* .(addresses|name|port): .*`, `http-route.* .name: .*`, `gateway-requests.* .(method|answers.at): .*`, `.* .conditions.reason: .*`, `api-calls.* .*: .*`},
		"a duplicate adds nothing":                                                      {`.* .conditions: the first twice`, `api-calls.* : the first twice`},
		"a condition of a later generation, or an earlier object, is not older than it": {`(gateway@|http-route).* .(conditions.observedGeneration|generation): .*`},
		"any UID is valid":                                                              {`(gateway@|http-route).* .uid: another text`},
		"any controller may accept a route":                                             {`http-route.* .controller: another text`},
		"answers are judged, however long routes took to converge":                      {`way-to-gateway.* .(settled|rounds|through): .*`},
	})
}
