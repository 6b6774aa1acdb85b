package inference

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// Every field of routes and answers is demanded, or it is said here why not.
func TestEveryField(t *testing.T) {
	t.Parallel()
	c := aCheck()
	checktest.EveryField(t, "spoilt", c.Judge, goodStory(c).observations(t), checktest.Harmless{
		"the class that is used is Accepted by the Gateway's own condition":             {`gateway-classes.* .classes.*: .*`},
		"stand-ins run without GPUs":                                                    {`free-gpus.*: .*`},
		"it names what is looked at, for people":                                        {`model-servers.* .(direct.at|pod|state): .*`, `gateway@.* .(addresses|name|port): .*`, `http-route.* .name: .*`, `gateway-requests.* .(method|answers.at): .*`, `.* .conditions.reason: .*`, `api-calls.* .*: .*`},
		"said twice is not more":                                                        {`.* .conditions: the first twice`, `api-calls.* : the first twice`},
		"a condition of a later generation, or an earlier object, is not older than it": {`(gateway@|http-route).* .(conditions.observedGeneration|generation): .*`},
		"an object has a UID, whichever it is":                                          {`(gateway@|http-route).* .uid: another text`},
		"a route says which controller took it":                                         {`http-route.* .controller: another text`},
		"answers are judged, however long routes took to settle":                        {`way-to-gateway.* .(settled|through): .*`},
	})
}
