"""The twenty tools of a shop's support desk, as the team has them: functions with docstrings.

What stands in for the shop's database is a few rows; what a tool would change there, it writes into `JOURNAL`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

ORDERS = {
    "1042": {"id": "1042", "customer": "c-7", "items": ["kettle"], "cents": 3990, "state": "delivered"},
    "1043": {"id": "1043", "customer": "c-7", "items": ["toaster"], "cents": 5490, "state": "packed"},
}
CUSTOMERS = {"c-7": {"id": "c-7", "name": "Jana", "email": "jana@example.org"}}
PRODUCTS = {"kettle": {"id": "kettle", "stock": 12}, "toaster": {"id": "toaster", "stock": 0}}
INVOICES = {"i-42": {"id": "i-42", "order": "1042", "cents": 3990}}
POLICIES = {"returns": "Thirty days, unused.", "warranty": "Two years.", "shipping": "Two to four days."}
JOURNAL: list[dict[str, Any]] = []


def find_customer(email: str) -> dict[str, Any]:
    """Find a customer by email address."""
    return {"customers": [each for each in CUSTOMERS.values() if each["email"] == email]}


def find_order(order_id: str) -> dict[str, Any]:
    """Show one order: its items, its total and its state."""
    return {"order": ORDERS.get(order_id)}


def list_orders(customer_id: str) -> dict[str, Any]:
    """List the orders of a customer."""
    return {"orders": [each for each in ORDERS.values() if each["customer"] == customer_id]}


def track_parcel(order_id: str) -> dict[str, Any]:
    """Say where the parcel of an order is."""
    return {"order": order_id, "parcel": ORDERS.get(order_id, {}).get("state")}


def find_product(words: str) -> dict[str, Any]:
    """Search the products of the shop."""
    return {"products": [each for name, each in PRODUCTS.items() if words.lower() in name]}


def check_stock(product_id: str) -> dict[str, Any]:
    """Say how many pieces of a product are in the warehouse."""
    return {"product": product_id, "stock": PRODUCTS.get(product_id, {}).get("stock")}


def list_invoices(order_id: str) -> dict[str, Any]:
    """List the invoices of an order."""
    return {"invoices": [each for each in INVOICES.values() if each["order"] == order_id]}


def list_returns(customer_id: str) -> dict[str, Any]:
    """List the parcels that a customer has sent back."""
    return {"returns": [each for each in JOURNAL if each["done"] == "start_return" and each["of"] == customer_id]}


def read_policy(topic: str) -> dict[str, Any]:
    """Read the shop's policy on returns, warranty or shipping."""
    return {"policy": POLICIES.get(topic)}


def refund_order(order_id: str, amount_cents: int, reason: str) -> dict[str, Any]:
    """Give money back for an order, in full or in part."""
    return _done("refund_order", order_id, amount_cents=amount_cents, reason=reason)


def cancel_order(order_id: str) -> dict[str, Any]:
    """Stop an order that has not been shipped."""
    return _done("cancel_order", order_id)


def change_address(order_id: str, address: str) -> dict[str, Any]:
    """Send an order to another delivery address."""
    return _done("change_address", order_id, address=address)


def replace_item(order_id: str, product_id: str) -> dict[str, Any]:
    """Ship a new piece in place of a broken one."""
    return _done("replace_item", order_id, product_id=product_id)


def start_return(order_id: str, customer_id: str, reason: str) -> dict[str, Any]:
    """Make a label with which the customer sends a parcel back."""
    return _done("start_return", customer_id, order_id=order_id, reason=reason)


def send_invoice(invoice_id: str, email: str) -> dict[str, Any]:
    """Mail an invoice once more."""
    return _done("send_invoice", invoice_id, email=email)


def add_voucher(customer_id: str, amount_cents: int) -> dict[str, Any]:
    """Give a customer a voucher for the next purchase."""
    return _done("add_voucher", customer_id, amount_cents=amount_cents)


def update_email(customer_id: str, email: str) -> dict[str, Any]:
    """Change the email address of a customer."""
    return _done("update_email", customer_id, email=email)


def pause_subscription(customer_id: str, months: int) -> dict[str, Any]:
    """Pause the coffee subscription for some months."""
    return _done("pause_subscription", customer_id, months=months)


def add_note(customer_id: str, text: str) -> dict[str, Any]:
    """Write a note into the file of a customer, for colleagues."""
    return _done("add_note", customer_id, text=text)


def handover(customer_id: str, reason: str) -> dict[str, Any]:
    """Hand the chat over to a human."""
    return _done("handover", customer_id, reason=reason)


def _done(what: str, of: str, **more: Any) -> dict[str, Any]:
    JOURNAL.append({"done": what, "of": of, **more})
    return JOURNAL[-1]


TOOLS: list[Callable[..., dict[str, Any]]] = [
    find_customer,
    find_order,
    list_orders,
    track_parcel,
    find_product,
    check_stock,
    list_invoices,
    list_returns,
    read_policy,
    refund_order,
    cancel_order,
    change_address,
    replace_item,
    start_return,
    send_invoice,
    add_voucher,
    update_email,
    pause_subscription,
    add_note,
    handover,
]
