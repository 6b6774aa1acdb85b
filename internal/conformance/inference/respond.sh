# In the place of a model server where no GPU is free: says which model it would serve.
exec python3 -c '
import json, os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
models = json.dumps({"object": "list", "data": [{"id": os.environ["SERVED_MODEL_NAME"], "object": "model"}]}).encode()
class Models(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        body = {"/health": b"", "/v1/models": models}.get(self.path)
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")
ThreadingHTTPServer(("", 8000), Models).serve_forever()
'
