"""Where the service listens, and what is said where it cannot."""

from __future__ import annotations

import signal
import socket

from tests.e2e.cli.command import finish, run, run_agent, start
from tests.e2e.cli.test_up import Scene, read_until
from tests.ports import free_port


async def test_up_listens_at_the_port_and_host_of_the_settings(tmp_path):
    scene = Scene(tmp_path)
    (tmp_path / ".env").write_text(f"PORT={scene.boss}\nHOST=0.0.0.0\n")
    arguments = ("up", "--agents-file", str(scene.file), "--supervisor", "boss")
    process = await start(*arguments, home=tmp_path, **scene.environ)
    try:
        lines = await read_until(process, b"  two ")
        assert f"supervisor   http://127.0.0.1:{scene.boss}\n" in lines
        with socket.socket() as elsewhere, socket.socket() as only_here:
            elsewhere.connect(("127.0.0.2", scene.boss))
            assert only_here.connect_ex(("127.0.0.2", scene.one)) != 0
    finally:
        process.send_signal(signal.SIGINT)
        await finish(process)


async def test_an_agent_on_a_taken_port_ends_with_a_sentence_and_code_2(tmp_path):
    port = free_port()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        done = await run_agent("agents.github", "--port", str(port), home=tmp_path)
    assert done.code == 2
    assert f"cannot listen on 127.0.0.1:{port}: another program uses that port" in done.err
    assert "Traceback" not in done.err


async def test_a_data_folder_that_cannot_be_written_is_named_with_exit_code_2(tmp_path):
    file = tmp_path / "file"
    file.touch()
    done = await run("chat", "--ask", "hi", home=tmp_path, PLATFORM_ENGINEER_HOME=str(file))
    assert done.code == 2
    assert f"The data folder {file} cannot be written" in done.err
