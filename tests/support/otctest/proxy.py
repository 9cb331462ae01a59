"""A TLS proxy in front of an API server, with a hook before each request.

What happens between two calls of the host can then be arranged on a real server:
the hook runs after the host has sent a request and before the server sees it.
"""
import http.client
import http.server
import ssl
import threading


class Proxy:
    """`before(method, path)` is called for each request, on its own thread."""

    def __init__(self, target, certificate, before):
        self.target = target
        self.before = before
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def forward(self):
                length = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(length) if length else None
                proxy.before(self.command, self.path)
                upstream = http.client.HTTPSConnection(
                    proxy.target.host, proxy.target.port, context=proxy.target.context)
                try:
                    headers = {k: v for k, v in self.headers.items()
                               if k.lower() not in ("host", "connection")}
                    upstream.request(self.command, self.path, body, headers)
                    answer = upstream.getresponse()
                    self.send_response(answer.status)
                    for name, value in answer.getheaders():
                        if name.lower() not in ("transfer-encoding", "content-length",
                                                "connection"):
                            self.send_header(name, value)
                    self.send_header("Transfer-Encoding", "chunked")
                    self.send_header("Connection", "close")
                    self.end_headers()
                    while data := answer.read1(65536):
                        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                        self.wfile.flush()
                    self.wfile.write(b"0\r\n\r\n")
                except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
                    pass  # the host went away
                finally:
                    upstream.close()
                    self.close_connection = True

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = forward

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        # The handshake belongs to the connection's thread, not to the one that accepts.
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True,
                                                 do_handshake_on_connect=False)
        self.url = f"https://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
