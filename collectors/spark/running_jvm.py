"""The JVM that is already running when a PySpark program starts, as under `spark-submit`.

Its class path is fixed by then, and no option of a session changes it.
"""

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from py4j.java_gateway import JVMView


def running_jvm() -> "JVMView | None":
    """Returns the running JVM; None if PySpark starts one later, with the session's options."""
    from pyspark import SparkContext  # only where a Spark application runs

    if not SparkContext._gateway and "PYSPARK_GATEWAY_PORT" not in os.environ:
        return None
    SparkContext._ensure_initialized()
    return SparkContext._jvm


def submitted_options(jvm: "JVMView") -> dict[str, str]:
    """Returns the options of `spark-submit`. The session's own options replace them, even lists."""
    properties: Any = jvm.System.getProperties()
    names = [str(name) for name in properties.stringPropertyNames()]
    return {name: properties.getProperty(name) for name in names if name.startswith("spark.")}


def loads(jvm: "JVMView", class_name: str, jar: str) -> bool:
    """Whether the JVM can load the class; if not at first, adds the jar as `--jars` would."""
    from py4j.protocol import Py4JError

    loader: Any = jvm.Thread.currentThread().getContextClassLoader()
    try:
        loader.loadClass(class_name)
    except Py4JError:
        try:
            loader.addURL(jvm.java.io.File(jar).toURI().toURL())
            loader.loadClass(class_name)
        except Py4JError:
            return False
    return True
